// The forward pass of a two-layer perceptron, softmax(relu(x W1 + b1) W2 + b2), for one batch after another. A stream
// brings the batches and takes the answers home while another computes; events order the two, and the host waits once,
// at the end. Every answer is compared with plain C++.
//
//   perceptron [back end]      without an argument the loader's first device
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <hal/hal.hpp>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

namespace {

constexpr int64_t batches = 8;
constexpr int64_t batch_rows = 32;
constexpr int64_t inputs = 64;
constexpr int64_t hidden = 48;
constexpr int64_t classes = 10;

using Numbers = std::vector<float>;

// Ends the program with the text of the error.
void require(const hal::Status& status, const char* what) {
    if (!status.ok()) {
        std::fprintf(stderr, "perceptron: %s: %s\n", what, status.text());
        std::exit(1);
    }
}
template <class T>
T require(hal::Result<T> result, const char* what) {
    require(result.status(), what);
    return std::move(*result);
}

Numbers noise(int64_t count, uint32_t seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
    Numbers numbers(static_cast<size_t>(count));
    std::generate(numbers.begin(), numbers.end(), [&] { return uniform(random); });
    return numbers;
}

// A matrix of floats in device memory with its tensor.
class Matrix {
  public:
    Matrix(const hal::Device& device, int64_t rows, int64_t columns)
        : shape_{rows, columns},
          buffer_(require(hal::Buffer::allocate(device, size_bytes()), "memory")),
          tensor_(hal::dense_tensor(device, buffer_.ptr(), HAL_F32, shape_, size_bytes())) {}
    Matrix(const Matrix&) = delete;  // the tensor points at the shape
    Matrix& operator=(const Matrix&) = delete;

    [[nodiscard]] const hal_tensor& tensor() const { return tensor_; }
    void write(const hal::Stream& stream, const Numbers& numbers) {
        require(buffer_.write_on(stream, std::as_bytes(std::span(numbers))), "copy to the device");
    }
    void read(const hal::Stream& stream, Numbers& numbers) const {
        require(buffer_.read_on(stream, std::as_writable_bytes(std::span(numbers))), "copy from the device");
    }

  private:
    [[nodiscard]] uint64_t size_bytes() const { return static_cast<uint64_t>(shape_[0] * shape_[1]) * sizeof(float); }

    std::array<int64_t, 2> shape_;
    hal::Buffer buffer_;
    hal_tensor tensor_;
};

struct Weights {
    Numbers w1 = noise(inputs * hidden, 1);
    Numbers b1 = noise(hidden, 2);
    Numbers w2 = noise(hidden * classes, 3);
    Numbers b2 = noise(classes, 4);
};

// One layer: out = x w + b, in two launches that are prepared once.
class Layer {
  public:
    Layer(const hal::Stream& stream, const hal_tensor& x, const Matrix& w, const Matrix& b, const Matrix& out)
        : product_(stream, "MatMul"), sum_(stream, "Add") {
        product_.input(x).input(w.tensor()).output(out.tensor());
        sum_.input(out.tensor()).input(b.tensor()).output(out.tensor());
    }
    void run() {
        require(product_.run(), "MatMul");
        require(sum_.run(), "Add");
    }

  private:
    hal::Launch product_;
    hal::Launch sum_;
};

// Everything that one batch needs on the device; two of them take turns.
class Slot {
  public:
    Slot(const hal::Stream& compute, const Matrix& w1, const Matrix& b1, const Matrix& w2, const Matrix& b2)
        : x_(compute.device(), batch_rows, inputs),
          middle_(compute.device(), batch_rows, hidden),
          answer_(compute.device(), batch_rows, classes),
          arrived_(require(hal::Event::create(compute.device()), "event")),
          computed_(require(hal::Event::create(compute.device()), "event")),
          first_(compute, x_.tensor(), w1, b1, middle_),
          relu_(compute, "Relu"),
          second_(compute, middle_.tensor(), w2, b2, answer_),
          softmax_(compute, "Softmax") {
        relu_.input(middle_.tensor()).output(middle_.tensor());
        softmax_.input(answer_.tensor()).output(answer_.tensor());
    }

    // The copies of this slot's previous batch come before those of this one on the same stream, so that nothing is
    // overwritten while it is needed.
    void forward(const hal::Stream& copies, const hal::Stream& compute, const Numbers& batch) {
        x_.write(copies, batch);
        require(arrived_.record(copies), "record");
        require(compute.wait(arrived_), "wait");
        first_.run();
        require(relu_.run(), "Relu");
        second_.run();
        require(softmax_.run(), "Softmax");
        require(computed_.record(compute), "record");
    }
    void fetch(const hal::Stream& copies, Numbers& answer) {
        require(copies.wait(computed_), "wait");
        answer_.read(copies, answer);
    }

  private:
    Matrix x_, middle_, answer_;
    hal::Event arrived_, computed_;
    Layer first_;
    hal::Launch relu_;
    Layer second_;
    hal::Launch softmax_;
};

std::vector<Numbers> on_device(const hal::Device& device, const Weights& weights, const std::vector<Numbers>& x) {
    const auto copies = require(hal::Stream::create(device), "stream");
    const auto compute = require(hal::Stream::create(device), "stream");
    Matrix w1(device, inputs, hidden), b1(device, 1, hidden), w2(device, hidden, classes), b2(device, 1, classes);
    w1.write(copies, weights.w1);
    b1.write(copies, weights.b1);
    w2.write(copies, weights.w2);
    b2.write(copies, weights.b2);

    Slot even(compute, w1, b1, w2, b2), odd(compute, w1, b1, w2, b2);
    std::vector<Numbers> answers(x.size(), Numbers(batch_rows * classes));
    for (size_t i = 0; i < x.size(); ++i) {
        Slot& slot = i % 2 == 0 ? even : odd;
        slot.forward(copies, compute, x[i]);
        if (i > 0) {  // the answer before, while this one is computed
            (i % 2 == 0 ? odd : even).fetch(copies, answers[i - 1]);
        }
    }
    (x.size() % 2 == 1 ? even : odd).fetch(copies, answers.back());
    require(copies.synchronize(), "synchronise");
    return answers;
}

Numbers dense_layer(const Numbers& x, const Numbers& w, const Numbers& b, int64_t rows) {
    const auto columns = static_cast<int64_t>(b.size());
    const int64_t depth = static_cast<int64_t>(w.size()) / columns;
    Numbers out(static_cast<size_t>(rows * columns));
    for (int64_t row = 0; row < rows; ++row) {
        for (int64_t column = 0; column < columns; ++column) {
            double sum = b[column];
            for (int64_t k = 0; k < depth; ++k) {
                sum += double{x[row * depth + k]} * double{w[k * columns + column]};
            }
            out[row * columns + column] = static_cast<float>(sum);
        }
    }
    return out;
}

Numbers on_host(const Weights& weights, const Numbers& x) {
    Numbers middle = dense_layer(x, weights.w1, weights.b1, batch_rows);
    for (float& value : middle) {
        value = std::max(value, 0.0F);
    }
    Numbers answer = dense_layer(middle, weights.w2, weights.b2, batch_rows);
    for (int64_t row = 0; row < batch_rows; ++row) {
        const auto begin = answer.begin() + row * classes;
        const float top = *std::max_element(begin, begin + classes);
        double sum = 0;
        std::for_each(begin, begin + classes, [&](float& value) { sum += value = std::exp(value - top); });
        std::for_each(begin, begin + classes, [&](float& value) { value = static_cast<float>(value / sum); });
    }
    return answer;
}

hal::Device choose_device(hal::Loader& loader, std::string_view backend) {
    const auto devices = require(loader.devices(), "devices");
    const auto found = std::find_if(devices.begin(), devices.end(), [&](const hal::Device& device) {
        return backend.empty() || device.backend_id() == backend;
    });
    if (found == devices.end()) {
        std::fprintf(stderr, "perceptron: no device of back end %s; hal-info lists what there is\n", backend.data());
        std::exit(1);
    }
    return *found;
}

}  // namespace

int main(int argc, char** argv) {
    auto loader = require(hal::Loader::open(), "loader");
    const hal::Device device = choose_device(loader, argc > 1 ? argv[1] : "");
    const Weights weights;
    std::vector<Numbers> x;
    for (uint32_t i = 0; i < batches; ++i) {
        x.push_back(noise(batch_rows * inputs, 100 + i));
    }
    const std::vector<Numbers> answers = on_device(device, weights, x);

    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        const Numbers expected = on_host(weights, x[i]);
        for (size_t k = 0; k < expected.size(); ++k) {
            const double difference = std::fabs(double{answers[i][k]} - double{expected[k]});
            worst = std::max(worst, std::isnan(difference) ? HUGE_VAL : difference);
        }
    }
    // Rounding of 64 and 48 products moves a probability by far less.
    const bool right = worst < 1e-5;
    std::printf("perceptron: %lld batches on %s (%s): largest difference from plain C++ %.2g: %s\n",
                static_cast<long long>(batches), device.backend_id(), require(device.name(), "name").c_str(), worst,
                right ? "right" : "WRONG");
    return right ? 0 : 1;
}
